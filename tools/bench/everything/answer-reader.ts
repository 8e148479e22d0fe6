import { Agent, request } from 'node:http';

/** Times and size of a complete response. */
export interface ReadAnswer {
  readonly firstByteMilliseconds: number;
  readonly milliseconds: number;
  readonly sizeBytes: number;
  readonly lines: number;
  /** The `total` of a Bundle. */
  readonly total: number | undefined;
}

const NEW_LINE = 0x0a;

/**
 * The number of bytes kept from each end of a response: a Bundle has its total at its beginning, or at its end when it
 * was streamed.
 */
const ENDS_BYTES = 300;

function totalIn(text: string): number | undefined {
  const found = /"type":"searchset","total":(\d+)|"total":(\d+)\}$/.exec(text);
  return found === null ? undefined : Number(found[1] ?? found[2]);
}

/** Reads responses one after another over one kept connection, without storing them. */
export class AnswerReader {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(
    private readonly baseUrl: string,
    private readonly authorization: string,
  ) {}

  /** @throws Error for any status except 200, and for an incomplete response */
  read(path: string, accept: string): Promise<ReadAnswer> {
    const headers = { Authorization: this.authorization, Accept: accept };
    const sentAt = performance.now();
    return new Promise((resolve, reject) => {
      request(this.baseUrl + path, { headers, agent: this.agent }, (response) => {
        let [firstByteMilliseconds, sizeBytes, lines] = [0, 0, 0];
        let [head, tail] = ['', ''];
        response
          .on('data', (chunk: Buffer) => {
            if (sizeBytes === 0) {
              firstByteMilliseconds = performance.now() - sentAt;
              head = chunk.toString('latin1', 0, ENDS_BYTES);
            }
            sizeBytes += chunk.length;
            tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - ENDS_BYTES))).slice(-ENDS_BYTES);
            for (let at = chunk.indexOf(NEW_LINE); at >= 0; at = chunk.indexOf(NEW_LINE, at + 1)) lines += 1;
          })
          .on('end', () => {
            const milliseconds = performance.now() - sentAt;
            if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${response.statusCode}`));
            else
              resolve({ firstByteMilliseconds, milliseconds, sizeBytes, lines, total: totalIn(head) ?? totalIn(tail) });
          })
          .on('error', reject);
      })
        .on('error', reject)
        .end();
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
