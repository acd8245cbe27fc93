"""The forms that documentation is written in, one file each; ``form`` is the interface they stand behind."""
