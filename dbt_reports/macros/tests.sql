{#- Generic tests: each selects the rows that are wrong. -#}
{% test no_nulls(model, columns) %}
select * from {{ model }} where {{ columns | join(' is null or ') }} is null
{% endtest %}

{% test all_between_0_and_1(model, columns) %}
select * from {{ model }}
where {% for column in columns %}not {{ column }} between 0 and 1{{ ' or ' if not loop.last }}{% endfor %}
{% endtest %}

{% test unique_together(model, columns) %}
select {{ columns | join(', ') }} from {{ model }} group by all having count(*) > 1
{% endtest %}

{% test holds(model, condition) %}
select * from {{ model }} where not ({{ condition }})
{% endtest %}
