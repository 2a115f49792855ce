with
benchmark as (
    select count(*) as n_problems, min(level) as min_level, max(level) as max_level
    from {{ ref('cme_problems') }}
    where published
),

attempts as (
    select
        evaluation,
        model,
        protocol,
        resolution,
        variant,
        count(distinct repeat) as repeats,
        count(score) as n_scored_attempts,
        count(*) filter (status = 'ok') as n_ok,
        count(*) filter (status <> 'ok' and score is not null) as n_model_failures,
        count(*) filter (score is null) as n_unscored,
        cast(sum(prompt_tokens) as bigint) as prompt_tokens,
        cast(sum(completion_tokens) as bigint) as completion_tokens,
        {{ whole_sum('cost_usd') }} as cost_usd,
        {{ whole_sum('latency_s') }} as latency_s
    from {{ ref('cme_scores') }}
    semi join (from {{ ref('cme_problems') }} where published) using (problem_id)
    group by all
),

scored as (
    select
        evaluation,
        count(score) as n_scored,
        {{ exact_mean('score') }} as score,
        {{ exact_mean('score_lenient') }} as score_lenient,
        {{ exact_mean('case when level = min_level then score end') }} as score_min_level,
        {{ exact_mean('case when level = max_level then score end') }} as score_max_level
    from {{ ref('cme_problem_scores') }}
    cross join benchmark
    where published
    group by all
),

evaluations as (
    select
        attempts.*,
        benchmark.n_problems,
        scored.* exclude (evaluation),
        attempts.n_scored_attempts / (benchmark.n_problems * attempts.repeats) as coverage
    from attempts
    cross join benchmark
    inner join scored using (evaluation)
)

select
    evaluations.evaluation,
    model,
    protocol,
    resolution,
    variant,
    -- Only whole evaluations of the same tables and settings compete.
    case
        when coverage = 1
            then cast(rank() over (partition by resolution, variant, coverage = 1 order by score desc) as integer)
    end as rank,
    repeats,
    n_problems,
    n_scored,
    coverage,
    score,
    ci_low,
    ci_high,
    score_min_level,
    score_max_level,
    score_lenient,
    n_clusters,
    n_ok,
    n_model_failures,
    n_unscored,
    prompt_tokens,
    completion_tokens,
    cost_usd,
    latency_s
from evaluations
left join {{ ref('cme_intervals') }} as intervals
    on intervals.evaluation = evaluations.evaluation
    and intervals.cut = 'all'
order by resolution, variant, rank nulls last, score desc nulls last, evaluations.evaluation
