"""Call formats, one file a shape, with their readers; ``known_formats`` lists them."""
