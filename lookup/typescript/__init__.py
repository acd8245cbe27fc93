"""The part of TypeScript in which chat templates print tools."""
