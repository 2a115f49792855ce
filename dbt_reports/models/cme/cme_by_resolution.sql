with tiers as (
    select
        evaluation,
        any_value(score) filter (tier = 1) as score_tier_1,
        any_value(score) filter (tier = 2) as score_tier_2,
        any_value(score) filter (tier = 3) as score_tier_3
    from {{ ref('cme_by_tier') }}
    group by all
)

select
    model,
    protocol,
    variant,
    resolution,
    evaluation,
    n_problems,
    n_scored,
    coverage,
    score,
    ci_low,
    ci_high,
    score_tier_1,
    score_tier_2,
    score_tier_3,
    prompt_tokens / (n_problems * repeats) as mean_prompt_tokens
from {{ ref('cme_leaderboard') }}
left join tiers using (evaluation)
order by model, protocol, variant, resolution
