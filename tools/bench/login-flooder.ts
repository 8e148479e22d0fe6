import { connect, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';

/** An order to the separate process that floods a server with logins. */
export interface Flood {
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  readonly count: number;
}

// Real floods come from other machines: here they may only use the CPU time that the server and its readers leave.
setPriority(constants.priority.PRIORITY_LOW);

/** One connection per login, like independent callers. An HTTP client would cost more than the flooded server. */
function logIn({ hostname, port }: URL, request: string): Promise<number> {
  return new Promise((resolve) => {
    let head = '';
    connect({ host: hostname, port: Number(port) })
      .on('connect', function (this: Socket) {
        this.write(request);
      })
      .on('data', (chunk) => {
        head ||= chunk.toString('latin1', 0, 12);
      })
      .on('error', () => undefined)
      .on('close', () => {
        resolve(statusOf(head));
      });
  });
}

/** The status in the first line of a response; 0 without a response. */
const statusOf = (head: string): number => Number(/^HTTP\/1\.1 (\d{3})$/.exec(head)?.[1] ?? 0);

function requestOf(url: URL, form: Flood['form']): string {
  const body = new URLSearchParams(form).toString();
  const lines = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

// The flood is a separate process: otherwise it would block the readers' event loop and distort their latencies.
process.on('message', ({ url, form, count }: Flood) => {
  const target = new URL(url);
  const request = requestOf(target, form);
  void Promise.all(Array.from({ length: count }, () => logIn(target, request))).then((statuses) =>
    process.send?.(statuses),
  );
});
