{#- The size of the tables that the published results are for. -#}
{%- set published_resolution = 100 -%}
with
counterparts as (
    select distinct published_model, model
    from {{ ref('published_counterparts') }}
    where published_protocol = 'code+react'
),

published as (
    select
        counterparts.model,
        tiers.model as published_model,
        tiers.tier,
        max(tiers.score) filter (tiers.protocol = 'direct') as direct_score,
        max(tiers.score) filter (tiers.protocol = 'code+react') as agent_score
    from {{ ref('published_tiers') }} as tiers
    inner join counterparts on counterparts.published_model = tiers.model
    group by all
),

-- Published tiers are shown also before the model has been run here.
cuts as (
    select model, resolution, variant, tier
    from {{ ref('cme_by_tier') }}
    where protocol in ('code', 'react')
    union
    select model, {{ published_resolution }}, 'published', tier
    from published
)

select
    cuts.model,
    cuts.resolution,
    cuts.variant,
    cuts.tier,
    direct.score as direct_score,
    code.score as code_score,
    react.score as react_score,
    code.score - direct.score as code_gain,
    react.score - direct.score as react_gain,
    direct.coverage as direct_coverage,
    code.coverage as code_coverage,
    react.coverage as react_coverage,
    published.published_model,
    published.direct_score as published_direct_score,
    published.agent_score as published_agent_score,
    published.agent_score - published.direct_score as published_gain
from cuts
left join {{ ref('cme_by_tier') }} as direct
    on (direct.model, direct.resolution, direct.tier) = (cuts.model, cuts.resolution, cuts.tier)
    and direct.protocol = 'direct'
    and direct.variant = 'published'
{%- for protocol in ['code', 'react'] %}
left join {{ ref('cme_by_tier') }} as {{ protocol }}
    on ({{ protocol }}.model, {{ protocol }}.resolution, {{ protocol }}.variant, {{ protocol }}.tier)
    = (cuts.model, cuts.resolution, cuts.variant, cuts.tier)
    and {{ protocol }}.protocol = '{{ protocol }}'
{%- endfor %}
left join published
    on (published.model, published.tier) = (cuts.model, cuts.tier)
    and cuts.resolution = {{ published_resolution }}
    and cuts.variant = 'published'
order by cuts.model, cuts.resolution, cuts.variant, cuts.tier
