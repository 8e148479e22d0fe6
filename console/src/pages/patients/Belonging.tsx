import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactElement } from 'react';
import { type ResourceType, type SvcClient } from 'svc-health-client';
import { useSession } from '../../app/session';
import { sayingOf } from '../../parts/Fault';

interface Props {
  readonly patientId: string;
  readonly type: string;
  readonly id: string;
}

/** The compartment parameters by which a resource belongs to the patient. */
export function Belonging({ patientId, type, id }: Props): ReactElement | null {
  const { client, userId } = useSession();
  const belonging = useQuery({
    queryKey: ['belonging', userId, patientId, type, id],
    queryFn: () => linksOf(client, patientId, type, id),
    staleTime: 60_000,
  });
  if (type === 'Patient' && id === patientId) return <span>The patient of this record</span>;
  if (belonging.isPending) return null;
  if (belonging.isError)
    return <span>Not known why it belongs: {sayingOf(belonging.error, 'the compartment').title}</span>;
  const { isType, by } = belonging.data;
  if (!isType) return <span>{type} is no type of the patient compartment: something refers to it</span>;
  if (by.length === 0) return <span>Not in the compartment of this patient: something refers to it</span>;
  return (
    <span>
      In the compartment by{' '}
      {by.map((parameter, index) => (
        <Fragment key={parameter}>
          {index > 0 && ', '}
          <code>
            {type}.{parameter}
          </code>
        </Fragment>
      ))}
    </span>
  );
}

interface Links {
  readonly isType: boolean;
  readonly by: readonly string[];
}

/** Tests each parameter of the stored definition by a search for this resource. */
async function linksOf(client: SvcClient, patientId: string, type: string, id: string): Promise<Links> {
  const { resource = [] } = await client.read('CompartmentDefinition', 'patient');
  const parameters = resource.find(({ code }) => code === type)?.param ?? [];
  const isLinked = await Promise.all(
    parameters.map(async (parameter) => {
      const query = { _id: id, [parameter]: `Patient/${patientId}`, _summary: 'count' };
      const { value } = await client.pages(type as ResourceType, query).next();
      return (value?.total ?? 0) > 0;
    }),
  );
  return { isType: parameters.length > 0, by: parameters.filter((_, index) => isLinked[index] === true) };
}
