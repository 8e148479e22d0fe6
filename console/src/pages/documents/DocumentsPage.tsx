import { type ReactElement } from 'react';
import { type PageProps } from '../../app/pages';
import { DocumentList } from './DocumentList';
import { DocumentRecord } from './DocumentRecord';

/** `#/documents` lists records; `#/documents/SDCDocument/vitals-1?revision=2` shows one. */
export default function DocumentsPage({ route }: PageProps): ReactElement {
  const [type, id] = route.steps;
  if (type === undefined || id === undefined) return <DocumentList />;
  return (
    <DocumentRecord
      key={`${type}/${id}`}
      target={{ resourceType: type === 'SDCWorkflow' ? 'SDCWorkflow' : 'SDCDocument', id }}
      position={route.query.get('revision') ?? undefined}
    />
  );
}
