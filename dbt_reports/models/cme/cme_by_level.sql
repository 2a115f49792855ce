{{ scores_by('level') }}
