"""Call formats: one file each, with its reader; ``known_formats`` lists them."""
