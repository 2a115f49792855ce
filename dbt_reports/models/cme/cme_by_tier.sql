{{ scores_by('tier') }}
