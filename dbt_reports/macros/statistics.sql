{#- The mean of scores in [0, 1]. Decimals add up exactly, so the last digit does not depend on the order in which
    threads deliver the rows, as it would with floating-point sums. -#}
{%- macro exact_mean(column) -%}
    avg(cast({{ column }} as decimal(18, 15)))
{%- endmacro -%}

{#- The sum of dollars or seconds, unknown as soon as one part is unknown. -#}
{%- macro whole_sum(column) -%}
    case when count(*) = count({{ column }}) then cast(sum(cast({{ column }} as decimal(18, 9))) as double) end
{%- endmacro -%}
