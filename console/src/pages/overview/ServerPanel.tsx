import { type ReactElement } from 'react';
import { type ServerStatus } from 'svc-health-client';
import { Fact } from '../../parts/Fact';
import { bytes, duration, whole } from '../../parts/numbers';
import { Panel } from '../../parts/Panel';
import { Time } from '../../parts/Time';
import { cpuCounter, ratesOf, type Sample } from './samples';
import css from './overview.module.css';

interface Props {
  readonly status: ServerStatus;
  readonly samples: readonly Sample[];
}

/** The server's processes and their database. */
export function ServerPanel({ status, samples }: Props): ReactElement {
  const { server, connections, database, health } = status;
  const cpu = ratesOf(samples, cpuCounter).at(-1);
  return (
    <Panel title="Server and database">
      <dl className={css.facts}>
        {server !== undefined && (
          <>
            <Fact name="Version">{server.version}</Fact>
            <Fact name="Started">
              <Time value={server.started} as="ago" />
            </Fact>
            <Fact name="Processes">{server.processes}</Fact>
            <Fact name="Memory">{bytes(server.memoryBytes)}</Fact>
            <Fact name="CPU">{typeof cpu === 'number' ? `${Math.round(cpu * 100)} % of a core` : '–'}</Fact>
            <Fact name="Event loop delay">{duration(server.eventLoopDelaySeconds)} (p99)</Fact>
            {server.backgroundFailures > 0 && (
              <Fact name="Background failures">
                <span className={css.bad}>{whole(server.backgroundFailures)}</span>
              </Fact>
            )}
          </>
        )}
        {connections !== undefined && (
          <Fact name="Connections of the server">
            {connections.inUse} of {connections.size} in use
            {connections.waiting > 0 && <span className={css.bad}>, {whole(connections.waiting)} waiting</span>}
          </Fact>
        )}
        <Fact name="Database answers in">
          {health.databaseMilliseconds < 1 ? '< 1 ms' : duration(health.databaseMilliseconds / 1000)}
        </Fact>
        {database !== undefined && (
          <>
            <Fact name="PostgreSQL">{database.version}</Fact>
            <Fact name="Connections to PostgreSQL">
              {database.connections} of {database.maxConnections}
            </Fact>
            <Fact name="Standbys">
              {database.standbys === 0 ? 'none' : database.standbys}
              {database.standbyLagBytes !== undefined && `, ${bytes(database.standbyLagBytes)} behind`}
            </Fact>
            {database.slotLagBytes !== undefined && <Fact name="Kept for slots">{bytes(database.slotLagBytes)}</Fact>}
          </>
        )}
      </dl>
    </Panel>
  );
}
