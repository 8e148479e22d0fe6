/** A message of the PostgreSQL protocol, version 3. */
export interface Message {
  /** The type byte as a character; empty for a client's first message, which has none. */
  readonly type: string;
  /** The whole message, with its type and its length. */
  readonly bytes: Buffer;
}

const LENGTH_BYTES = 4;

/** Splits one direction of a connection into messages (PostgreSQL documentation, "Message Formats"); without TLS. */
export class MessageSplitter {
  private rest: Buffer = Buffer.alloc(0);

  /** @param isTyped false for the client's direction: its first message is only a length and a body */
  constructor(private isTyped: boolean) {}

  /** Returns the messages that `chunk` completes. */
  split(chunk: Buffer): Message[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      const lengthAt = this.isTyped ? 1 : 0;
      if (this.rest.length < lengthAt + LENGTH_BYTES) return messages;
      const end = lengthAt + this.rest.readInt32BE(lengthAt);
      if (this.rest.length < end) return messages;
      const type = this.isTyped ? String.fromCharCode(this.rest.readUInt8(0)) : '';
      messages.push({ type, bytes: this.rest.subarray(0, end) });
      this.rest = this.rest.subarray(end);
      this.isTyped = true;
    }
  }
}

/** The zero-terminated strings at the beginning of a typed message's body. */
export function leadingStrings({ bytes }: Message, count: number): string[] {
  const strings: string[] = [];
  let start = 1 + LENGTH_BYTES;
  for (let index = 0; index < count; index++) {
    const end = bytes.indexOf(0, start);
    strings.push(bytes.toString('utf8', start, end));
    start = end + 1;
  }
  return strings;
}

/** A typed message whose body is one string, such as Query and CommandComplete. */
export function stringMessage(type: string, text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.alloc(1 + LENGTH_BYTES);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(LENGTH_BYTES + body.length, 1);
  return Buffer.concat([head, body]);
}
