"""Pages for people: one self-contained HTML file that draws offline, prints, and reads aloud."""
