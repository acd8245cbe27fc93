"""Load on the server: made-up requests from many clients, some of which hang up; what they get, and how fast."""
