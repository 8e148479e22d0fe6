/** Returns an example addendum for the OpenAPI document. `content` has the members that this type of addendum has. */
export const exampleAddendum = (type: string, content: object, target: object = EXAMPLE_TARGET): object => ({
  resourceType: 'SDCAddendum',
  id: '7c0e5c3e-5d0b-4a53-9d0f-0c2f6f0f8a11',
  meta: { versionId: '1', lastUpdated: '2025-02-11T09:14:07.482Z', createdAt: '2025-02-11T09:14:07.482Z' },
  type,
  target,
  user: { id: 'doc-1', resourceType: 'User' },
  recorder: { resourceType: 'User', id: 'doc-1' },
  date: '2025-02-11T09:14:07.482Z',
  ...content,
});

/** The target of the examples. Earlier examples of the OpenAPI document store it. */
export const EXAMPLE_TARGET = { id: 'vitals-1', resourceType: 'SDCDocument' };

/** Returns an example of a document as `svc.sdc/save` and similar methods store it. */
export const exampleDocument = (id: string, status: string, celsius: number): object => ({
  resourceType: 'SDCDocument',
  id,
  meta: { versionId: '2', lastUpdated: '2025-02-11T09:14:07.482Z', createdAt: '2025-02-11T09:02:51.127Z' },
  type: 'clinic.forms/VitalsDocument',
  patient: { resourceType: 'Patient', id: 'p7' },
  '8310-5': { value: celsius, unit: 'Cel' },
  status,
});
