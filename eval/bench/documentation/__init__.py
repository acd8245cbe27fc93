"""How fast documentation is read: samples in every form, and hostile texts."""
