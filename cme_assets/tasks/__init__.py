"""The 38 task categories: what is drawn, measured and asked, what is true, and how sharply it is judged."""
