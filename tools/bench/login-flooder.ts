import { Agent, request } from 'node:http';
import { constants, setPriority } from 'node:os';

/** What the bench sends to the process of its own that floods a server with logins. */
export interface Flood {
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  readonly count: number;
}

// A flood comes from other machines: here it may only have the time that the server and its readers leave.
setPriority(constants.priority.PRIORITY_LOW);

const agent = new Agent({ maxSockets: Infinity });

/** The status of the answer, 0 when none came. */
function logIn({ url, form }: Flood): Promise<number> {
  const body = new URLSearchParams(form).toString();
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve) => {
    request(url, { method: 'POST', headers, agent }, (response) => {
      response.resume().on('end', () => {
        resolve(response.statusCode ?? 0);
      });
    })
      .on('error', () => {
        resolve(0);
      })
      .end(body);
  });
}

// Beside the readers it would keep their event loop busy, and they would measure themselves.
process.on('message', (flood: Flood) => {
  void Promise.all(Array.from({ length: flood.count }, () => logIn(flood))).then((statuses) =>
    process.send?.(statuses),
  );
});
