{{/* Environment, files and security of a pod. Each takes a dict of `root` and `operator`. */}}

{{/* A quantity of bytes in Mi, rounded down. */}}
{{- define "tidegate.mebibytes" -}}
{{- $text := kindIs "string" . | ternary . (printf "%d" (int64 .)) -}}
{{- $number := regexFind "^[0-9]+([.][0-9]+)?" $text -}}
{{- $units := dict "" 1 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 -}}
{{- $unit := trimPrefix $number $text -}}
{{- if or (eq $number "") (not (hasKey $units $unit)) -}}
{{- fail (printf "resources.limits.memory %q is no amount of memory: write it like 512Mi" $text) -}}
{{- end -}}
{{- divf (mulf (float64 $number) (get $units $unit)) 1048576 | floor | int64 -}}
{{- end -}}

{{/* Three quarters of the limit; the rest is for buffers, code and the kernel. */}}
{{- define "tidegate.heapMebibytes" -}}
{{- $limit := include "tidegate.mebibytes" . | int64 -}}
{{- if lt $limit 192 -}}
{{- fail (printf "resources.limits.memory %q is too small: give it 192Mi or more" (toString .)) -}}
{{- end -}}
{{- div (mul $limit 3) 4 -}}
{{- end -}}

{{/*
A half of the young generation. Node's own 16 MiB make an operator of a large cluster start faster,
and one of a small cluster larger by a tenth.
*/}}
{{- define "tidegate.semiSpaceMebibytes" -}}
{{- $limit := include "tidegate.mebibytes" . | int64 -}}
{{- if le $limit 512 -}}1{{- else -}}{{- min 16 (div $limit 256) -}}{{- end -}}
{{- end -}}

{{/* Whole numbers without an exponent. */}}
{{- define "tidegate.settingText" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ int64 . }}{{- else -}}{{ toString . }}{{- end -}}
{{- end -}}

{{- define "tidegate.hasTls" -}}
{{- if and (has "fleet" .operator.roles) (or .root.Values.tls.existingSecret .root.Values.tls.certManager.enabled) -}}true{{- end -}}
{{- end -}}

{{- define "tidegate.hasTemplate" -}}
{{- $template := .root.Values.bootstrapTemplate -}}
{{- if and (has "fleet" .operator.roles) (or $template.text $template.existingConfigMap $template.existingSecret) -}}true{{- end -}}
{{- end -}}

{{- define "tidegate.hasPenalties" -}}
{{- $defaults := .root.Values.priorityClassDefaults -}}
{{- if and (has "pods" .operator.roles) (or $defaults.content $defaults.existingConfigMap) -}}true{{- end -}}
{{- end -}}

{{- define "tidegate.ownEnv" -}}
{{- $operator := .operator }}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
{{- with ($operator.resources.limits | default dict).memory }}
- name: NODE_OPTIONS
  value: >-
    --max-old-space-size={{ include "tidegate.heapMebibytes" . }}
    --max-semi-space-size={{ include "tidegate.semiSpaceMebibytes" . }}
# One arena of the allocator: memory that a thread frees is there for the others.
- name: MALLOC_ARENA_MAX
  value: "1"
{{- end }}
- name: TIDEGATE_ROLES
  value: {{ join "," $operator.roles }}
- name: TIDEGATE_LEASE_NAME
  value: {{ $operator.lease }}
- name: TIDEGATE_LEASE_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: TIDEGATE_METRICS_ADDR
  value: ":8770"
- name: TIDEGATE_HEALTH_ADDR
  value: ":8771"
{{- if include "tidegate.hasTls" . }}
- name: TIDEGATE_TLS_CERT
  value: /etc/tidegate/tls/tls.crt
- name: TIDEGATE_TLS_KEY
  value: /etc/tidegate/tls/tls.key
- name: TIDEGATE_TLS_CA
  value: /etc/tidegate/tls/ca.crt
{{- end }}
{{- if include "tidegate.hasTemplate" . }}
- name: TIDEGATE_BOOTSTRAP_TEMPLATE_FILE
  value: /etc/tidegate/template/template
{{- end }}
{{- if include "tidegate.hasPenalties" . }}
- name: TIDEGATE_PRIORITY_CLASS_DEFAULTS_FILE
  value: /etc/tidegate/priority-classes/defaults.yaml
{{- end }}
{{- if .root.Values.livePage.enabled }}
- name: TIDEGATE_INSPECT_ADDR
  value: ":8772"
{{- if .root.Values.livePage.tokenSecret }}
- name: TIDEGATE_INSPECT_TOKEN_FILE
  value: /etc/tidegate/live-page/token
{{- end }}
{{- end }}
{{- range $key, $setting := $operator.settings }}
- name: TIDEGATE_{{ snakecase $key | upper }}
  value: {{ include "tidegate.settingText" $setting | quote }}
{{- end }}
{{- end -}}

{{/* A variable of the user replaces that of the chart: names must not be there twice. */}}
{{- define "tidegate.env" -}}
{{- $replaced := dict -}}
{{- range .root.Values.extraEnv -}}{{- $_ := set $replaced .name true -}}{{- end -}}
{{- $kept := list -}}
{{- range include "tidegate.ownEnv" . | fromYamlArray -}}
{{- if not (hasKey $replaced .name) -}}{{- $kept = append $kept . -}}{{- end -}}
{{- end -}}
{{- toYaml (concat $kept (.root.Values.extraEnv | default list)) -}}
{{- end -}}

{{- define "tidegate.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if include "tidegate.hasTls" . }}
- name: tls
  mountPath: /etc/tidegate/tls
  readOnly: true
{{- end }}
{{- if include "tidegate.hasTemplate" . }}
- name: template
  mountPath: /etc/tidegate/template
  readOnly: true
{{- end }}
{{- if include "tidegate.hasPenalties" . }}
- name: priority-classes
  mountPath: /etc/tidegate/priority-classes
  readOnly: true
{{- end }}
{{- if and .root.Values.livePage.enabled .root.Values.livePage.tokenSecret }}
- name: live-page
  mountPath: /etc/tidegate/live-page
  readOnly: true
{{- end }}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "tidegate.volumes" -}}
{{- $fullname := include "tidegate.fullname" .root -}}
- name: tmp
  emptyDir: {}
{{- if include "tidegate.hasTls" . }}
- name: tls
  secret:
    secretName: {{ include "tidegate.tlsSecret" .root }}
    defaultMode: 0440
{{- end }}
{{- if include "tidegate.hasTemplate" . }}
{{- with .root.Values.bootstrapTemplate }}
- name: template
  {{- if .existingSecret }}
  secret:
    secretName: {{ .existingSecret }}
    defaultMode: 0440
  {{- else }}
  configMap:
    name: {{ .existingConfigMap | default (printf "%s-template" $fullname) }}
  {{- end }}
    items:
      - key: {{ .key }}
        path: template
{{- end }}
{{- end }}
{{- if include "tidegate.hasPenalties" . }}
{{- with .root.Values.priorityClassDefaults }}
- name: priority-classes
  configMap:
    name: {{ .existingConfigMap | default (printf "%s-priority-classes" $fullname) }}
    items:
      - key: {{ .key }}
        path: defaults.yaml
{{- end }}
{{- end }}
{{- if and .root.Values.livePage.enabled .root.Values.livePage.tokenSecret }}
- name: live-page
  secret:
    secretName: {{ .root.Values.livePage.tokenSecret }}
    defaultMode: 0440
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "tidegate.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.userId }}
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "tidegate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Where pods may run, and as what. */}}
{{- define "tidegate.scheduling" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
