import { type SvcClient } from 'svc-health-client';

/** The parts of the CapabilityStatement that pages read. */
export interface Capabilities {
  readonly rest?: readonly {
    readonly searchParam?: readonly StatedParameter[];
    readonly resource?: readonly {
      readonly type: string;
      readonly searchParam?: readonly StatedParameter[];
      readonly searchInclude?: readonly string[];
      readonly searchRevInclude?: readonly string[];
    }[];
  }[];
}

interface StatedParameter {
  readonly name: string;
  readonly type: string;
}

interface CapabilitiesQuery {
  readonly queryKey: readonly string[];
  readonly staleTime: number;
  readonly queryFn: () => Promise<Capabilities>;
}

/** The query for `/metadata`, which is read once. */
export const capabilitiesOf = (client: SvcClient): CapabilitiesQuery => ({
  queryKey: ['capabilities'],
  staleTime: Infinity,
  queryFn: async () => (await (await client.request('GET', '/metadata')).json()) as Capabilities,
});
