{{ scores_by('category', attributes=['domain', 'tier', 'published'], intervals=false, only_published=false) }}
