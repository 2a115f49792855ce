{#- The size of the tables that the published results are for. -#}
{%- set published_resolution = 100 -%}
select
    published.model as published_model,
    published.protocol as published_protocol,
    counterparts.model,
    counterparts.protocol,
    leaderboard.evaluation,
    published.score_all as published_score,
    leaderboard.score,
    leaderboard.ci_low,
    leaderboard.ci_high,
    leaderboard.score - published.score_all as difference,
    published.score_min_noise as published_score_min_noise,
    leaderboard.score_min_level,
    published.score_max_noise as published_score_max_noise,
    leaderboard.score_max_level,
    leaderboard.coverage
from {{ ref('published_results') }} as published
left join {{ ref('published_counterparts') }} as counterparts
    on counterparts.published_model = published.model
    and counterparts.published_protocol = published.protocol
left join {{ ref('cme_leaderboard') }} as leaderboard
    on leaderboard.model = counterparts.model
    and leaderboard.protocol = counterparts.protocol
    and leaderboard.resolution = {{ published_resolution }}
    and leaderboard.variant = 'published'
order by published.protocol = 'code+react', published.score_all desc
