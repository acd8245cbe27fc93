"""The command line: options, commands, what is printed, how a command ends."""
