"""The stages of the paper's reproduction: data, bits, templates, order recovery; each kept when it is done."""
