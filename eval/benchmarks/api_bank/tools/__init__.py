"""The rules by which API-Bank's tools answer, reproduced for exact agreement with the official scorer."""
