"""Token sequences in the making: boundaries, branches, tries over texts, the vocabulary's texts."""
