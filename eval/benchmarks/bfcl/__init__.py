"""BFCL (Berkeley Function-Calling Leaderboard), scored offline as the official ``bfcl evaluate`` scores it."""
