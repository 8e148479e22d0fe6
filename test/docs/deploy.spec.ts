import { describe, expect, it } from '@jest/globals';
import { textOf } from './documents';

const settings = textOf('docs/reference/settings.md');
const defaultOf = (name: string): number =>
  Number(new RegExp(`\\| \`${name}\` +\\|[^|]+\\| \`(\\d+)\``).exec(settings)?.[1]);

describe('deploy/svc-health-server.service', () => {
  const unit = textOf('deploy/svc-health-server.service');

  it('starts the server with the command of npm start', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: { start: string } };
    const [, command] = /^ExecStart=\/usr\/bin\/(.+)$/m.exec(unit) ?? [];
    expect(scripts.start.split(' || ')).toContain(command);
  });

  it('has a stop timeout longer than drain and shutdown together', () => {
    const [, drain] = /SVC_DRAIN_SECONDS=(\d+)/.exec(textOf('docs/how-to/deploy.md')) ?? [];
    const needed = Number(drain) + defaultOf('SVC_SHUTDOWN_SECONDS') + 5;
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(needed);
  });
});

describe('deploy/haproxy.cfg', () => {
  const configuration = textOf('deploy/haproxy.cfg');

  it('removes or overwrites headers that the server trusts', () => {
    expect(configuration).toContain('http-request del-header X-Original-Uri\n');
    expect(configuration).toContain('http-request set-header X-Forwarded-For %[src]\n');
    expect(configuration).toContain('http-request set-header X-Forwarded-Proto https\n');
  });

  it('has a server timeout longer than the longest request, and a shorter keep-alive than the server', () => {
    const secondsOf = (what: string): number => Number(new RegExp(`timeout ${what} (\\d+)s`).exec(configuration)?.[1]);
    const longest = ['SVC_EVERYTHING_TIMEOUT_MAX_SECONDS', 'SVC_SEARCH_TIMEOUT_MAX_SECONDS'].map(defaultOf);
    expect(secondsOf('server')).toBeGreaterThan(Math.max(...longest));
    expect(secondsOf('http-keep-alive')).toBeLessThan(defaultOf('SVC_KEEP_ALIVE_SECONDS'));
  });
});
