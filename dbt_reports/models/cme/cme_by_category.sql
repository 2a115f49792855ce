{{ scores_by('category', attributes=['domain', 'tier'], intervals=false, only_published=false) }}
