/**
 * A custom resource with all that a definition can have: defaults, limits, rules, columns, status.
 */

/** Its CustomResourceDefinition. */
export const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wg'] },
    scope: 'Namespaced',
    versions: [{
      name: 'v1',
      served: true,
      storage: true,
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              required: ['size'],
              properties: {
                size: { type: 'integer', minimum: 0, maximum: 1000 },
                mode: { type: 'string', enum: ['slow', 'fast'], default: 'slow' },
                parts: {
                  type: 'object',
                  maxProperties: 8,
                  additionalProperties: { type: 'string', maxLength: 16 },
                },
              },
              'x-kubernetes-validations': [
                {
                  rule: 'self.size == oldSelf.size',
                  message: 'size never changes',
                },
              ],
            },
            status: {
              type: 'object',
              properties: { phase: { type: 'string' } },
              'x-kubernetes-preserve-unknown-fields': true,
            },
          },
        },
      },
    }],
  },
};
