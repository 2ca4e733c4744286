{{/* The enabled entries of `operators`, with their defaults, checked. */}}

{{- define "tidegate.operators" -}}
{{- $root := . -}}
{{- $surge := "surge.tidegate.dev" -}}
{{- $owners := dict -}}
{{- $enabled := dict -}}
{{- range $name, $given := .Values.operators -}}
{{- if and $given (ne (toString $given.enabled) "false") -}}
{{- range $role := $given.roles -}}
{{- with get $owners $role -}}
{{- fail (printf "operators.%s.roles and operators.%s.roles both have the role %q: give it to one of them" . $name $role) -}}
{{- end -}}
{{- $_ := set $owners $role $name -}}
{{- end -}}
{{- $_ := set $enabled $name $given -}}
{{- end -}}
{{- end -}}
{{- if not $enabled -}}
{{- fail "operators has no entry that is enabled: set operators.operator.enabled" -}}
{{- end -}}
{{- $result := dict -}}
{{- range $name, $given := $enabled -}}
{{- $roles := required (printf "operators.%s.roles is required" $name) $given.roles -}}
{{- /* `merge` takes false for a value that is not there. */}}
{{- $settings := deepCopy ($root.Values.settings | default dict) -}}
{{- range $key, $setting := $given.settings -}}{{- $_ := set $settings $key $setting -}}{{- end -}}
{{- /* `availability` drains disabled Nodes. */}}
{{- $isDraining := or (has "fleet" $roles) (has "maintenance" $roles) (has "evictions" $roles) (has "availability" $roles) -}}
{{- if and $isDraining (hasKey $owners "interceptors") (not (hasKey $settings "defaultInterceptors")) -}}
{{- $_ := set $settings "defaultInterceptors" $surge -}}
{{- end -}}
{{- if has "fleet" $roles -}}
{{- include "tidegate.checkFleet" (dict "root" $root "name" $name "settings" $settings) -}}
{{- end -}}
{{- $fullname := printf "%s-%s" (include "tidegate.fullname" $root) $name -}}
{{- $account := $fullname -}}
{{- if not $root.Values.serviceAccount.create -}}
{{- $account = required (printf "operators.%s.serviceAccountName is required when serviceAccount.create is false" $name) $given.serviceAccountName -}}
{{- end -}}
{{- $_ := set $result $name (dict
  "fullname" $fullname
  "account" $account
  "lease" (printf "tidegate-%s" $name)
  "roles" $roles
  "replicas" (hasKey $given "replicas" | ternary $given.replicas 2)
  "resources" ($given.resources | default $root.Values.resources | default dict)
  "settings" $settings) -}}
{{- end -}}
{{- toYaml $result -}}
{{- end -}}

{{/* What the role fleet needs: its identity, the address of the shard, and a key pair. */}}
{{- define "tidegate.checkFleet" -}}
{{- $tls := .root.Values.tls -}}
{{- if not .settings.clusterId -}}
{{- fail (printf "settings.clusterId is required with the role fleet, which operators.%s.roles has" .name) -}}
{{- end -}}
{{- if not .settings.shardAddr -}}
{{- fail (printf "settings.shardAddr is required with the role fleet, which operators.%s.roles has" .name) -}}
{{- end -}}
{{- if and $tls.existingSecret $tls.certManager.enabled -}}
{{- fail "tls.existingSecret and tls.certManager.enabled exclude each other" -}}
{{- end -}}
{{- if and $tls.certManager.enabled (not $tls.certManager.issuerRef.name) -}}
{{- fail "tls.certManager.issuerRef.name is required with tls.certManager.enabled" -}}
{{- end -}}
{{- if and .settings.insecurePlaintext (or $tls.existingSecret $tls.certManager.enabled) -}}
{{- fail "settings.insecurePlaintext and a key pair (tls.existingSecret, tls.certManager) exclude each other: set settings.insecurePlaintext to false" -}}
{{- end -}}
{{- if not (or $tls.existingSecret $tls.certManager.enabled .settings.insecurePlaintext) -}}
{{- fail "tls.existingSecret is required with the role fleet: name a Secret with tls.crt, tls.key and ca.crt, or set tls.certManager.enabled; for trials set settings.insecurePlaintext" -}}
{{- end -}}
{{- end -}}

{{/*
The ports that gRPC dials for a target, as JSON: 443 for an address without a port, which an IPv6
address without brackets is as well, and none for a socket of Unix.
*/}}
{{- define "tidegate.shardPorts" -}}
{{- $ports := list -}}
{{- if not (hasPrefix "unix:" .) -}}
{{- range splitList "," (regexReplaceAll "^(dns|ipv4|ipv6):(//[^/]*/)?" . "") -}}
{{- $port := regexFind "[0-9]+$" (regexFind "^([^:]*|\\[.*\\]):[0-9]+$" .) -}}
{{- $ports = append $ports ($port | default "443" | atoi) -}}
{{- end -}}
{{- end -}}
{{- toJson (uniq $ports) -}}
{{- end -}}
