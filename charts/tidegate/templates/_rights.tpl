{{/* A list of rules with one rule for each resource, whose verbs are those of all of them. */}}
{{- define "tidegate.mergedRules" -}}
{{- $merged := dict -}}
{{- range . -}}
{{- $key := printf "%s %s %s" (first .apiGroups) (first .resources) (join "," .resourceNames) -}}
{{- $before := get $merged $key | default (dict "verbs" list) -}}
{{- $_ := set $merged $key (merge (dict "verbs" (concat $before.verbs .verbs | uniq)) .) -}}
{{- end -}}
{{- $rules := list -}}
{{- range $merged -}}{{- $rules = append $rules . -}}{{- end -}}
{{- toYaml $rules -}}
{{- end -}}
