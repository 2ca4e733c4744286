/** DR-24: what is still attached when a drain ends. */
import { expect, test } from 'vitest';
import { projectVolumeAttachment } from '../../../../src/domain/drain/volume-attachment.ts';

const metadata = { name: 'csi-1', uid: 'u', resourceVersion: '1' };

test('DR-24: an attachment is read by its node and its PersistentVolume', () => {
  expect(projectVolumeAttachment({
    metadata,
    spec: { nodeName: 'n1', source: { persistentVolumeName: 'pv-1' } },
  })).toMatchObject({ node: 'n1', volume: 'pv-1' });
});

test('DR-24: an attachment of an inline volume has its own name', () => {
  expect(projectVolumeAttachment({ metadata, spec: { nodeName: 'n1', source: {} } }))
    .toMatchObject({ volume: 'csi-1' });
  expect(projectVolumeAttachment({ metadata })).toMatchObject({ node: '' });
  expect(projectVolumeAttachment(null)).toBeUndefined();
});
