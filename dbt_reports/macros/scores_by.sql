{#- Scores cut by `group`, a column of cme_problems: one row an evaluation and value, also where nothing is
    scored. `attributes` are columns that the group determines. Intervals exist for the cuts in cme_intervals.
    Categories beyond the published 38 count where `only_published` is false. -#}
{%- macro scores_by(group, attributes=[], intervals=true, only_published=true) -%}
with
evaluations as (
    select evaluation, model, protocol, resolution, variant, count(distinct repeat) as repeats
    from {{ ref('cme_scores') }}
    {%- if only_published %}
    semi join (from {{ ref('cme_problems') }} where published) using (problem_id)
    {%- endif %}
    group by all
),

groups as (
    select {{ ([group] + attributes) | join(', ') }}, count(*) as n_problems
    from {{ ref('cme_problems') }}
    {%- if only_published %}
    where published
    {%- endif %}
    group by all
),

scored as (
    select
        evaluation,
        {{ group }},
        count(score) as n_scored,
        sum(n_scored_repeats) as n_scored_attempts,
        {{ exact_mean('score') }} as score,
        {{ exact_mean('score_lenient') }} as score_lenient
    from {{ ref('cme_problem_scores') }}
    {%- if only_published %}
    where published
    {%- endif %}
    group by all
)

select
    evaluations.evaluation,
    evaluations.model,
    evaluations.protocol,
    evaluations.resolution,
    evaluations.variant,
    {%- for column in [group] + attributes %}
    groups.{{ column }},
    {%- endfor %}
    evaluations.repeats,
    groups.n_problems,
    coalesce(scored.n_scored, 0) as n_scored,
    coalesce(scored.n_scored_attempts, 0) / (groups.n_problems * evaluations.repeats) as coverage,
    scored.score,
    {%- if intervals %}
    intervals.ci_low,
    intervals.ci_high,
    {%- endif %}
    scored.score_lenient
from evaluations
cross join groups
left join scored
    on scored.evaluation = evaluations.evaluation
    and scored.{{ group }} = groups.{{ group }}
{%- if intervals %}
left join {{ ref('cme_intervals') }} as intervals
    on intervals.evaluation = evaluations.evaluation
    and intervals.cut = '{{ group }}'
    and intervals.cut_value = groups.{{ group }}
{%- endif %}
order by evaluations.evaluation, groups.{{ group }}
{%- endmacro -%}
