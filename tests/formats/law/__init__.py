"""Law 1 in every call format: whatever a model writes, judges that know nothing of this project read the calls."""
