{{/* Names, labels and the image. */}}

{{- define "tidegate.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "tidegate.fullname" -}}
{{- $name := include "tidegate.name" . -}}
{{- $whole := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- .Values.fullnameOverride | default $whole | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* A Service's name is a DNS label that begins with a letter: 63 characters at most, no dots. */}}
{{- define "tidegate.metricsService" -}}
{{- $fullname := include "tidegate.fullname" .root | replace "." "-" -}}
{{- if not (regexMatch "^[a-z]" $fullname) -}}{{- $fullname = printf "t-%s" $fullname -}}{{- end -}}
{{- $room := sub 54 (len .name) | int -}}
{{- printf "%s-%s-metrics" ($fullname | trunc $room | trimSuffix "-") .name -}}
{{- end -}}

{{- define "tidegate.selector" -}}
app.kubernetes.io/name: {{ include "tidegate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tidegate.labels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_")
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/part-of" "tidegate"
  "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $selector := include "tidegate.selector" . | fromYaml -}}
{{- toYaml (merge (dict) $selector $own (.Values.commonLabels | default dict)) -}}
{{- end -}}

{{- define "tidegate.image" -}}
{{- $repository := required "image.repository is required: build an image and push it to your registry" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "tidegate.tlsSecret" -}}
{{- .Values.tls.existingSecret | default (printf "%s-tls" (include "tidegate.fullname" .)) -}}
{{- end -}}
