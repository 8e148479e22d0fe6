import { styleText } from 'node:util';
import { type HttpAnswer, type HttpCall, type HttpClient } from '../http-client';
import { BrokenPromise } from './broken-promise';

const MAX_SHOWN_ANSWER = 300;
const INDENT = '   ';

/** Prints the demo: numbered steps, each call as a curl line, its status, and the meaning of its response. */
export class Story {
  /** The current step, for the message when it fails. */
  title = '';
  private number = 0;
  private readonly hasColour = process.stdout.isTTY && !process.env.NO_COLOR;

  constructor(
    readonly client: HttpClient,
    /** Variables that the curl lines show as `$NAME`: name → value. */
    readonly variables: Map<string, string>,
  ) {}

  step(title: string): void {
    this.number += 1;
    this.title = `${this.number}. ${title}`;
    this.print(`\n${this.painted('bold', this.title)}`);
  }

  /** Prints and sends the call. @throws BrokenPromise when the status is none of `expected`. */
  async call(call: HttpCall, ...expected: readonly number[]): Promise<HttpAnswer> {
    this.show(call);
    const answer = await this.send(call, ...expected);
    this.tell(this.painted('green', `→ ${answer.status}`));
    return answer;
  }

  /** Sends the call without printing, for steps with many calls. */
  async send(call: HttpCall, ...expected: readonly number[]): Promise<HttpAnswer> {
    const answer = await this.client.send(call);
    if (expected.includes(answer.status)) return answer;
    const shown = answer.text.slice(0, MAX_SHOWN_ANSWER);
    throw new BrokenPromise(
      `${call.method} ${call.path} answers ${expected.join(' or ')}, not ${answer.status}: ${shown}`,
    );
  }

  show(call: HttpCall): void {
    this.tell(this.painted('dim', `$ ${this.curlLine(call)}`));
  }

  curlLine(call: HttpCall): string {
    return this.client.curlLine(call, this.variables);
  }

  tell(text: string): void {
    this.print(text.replaceAll(/^/gm, INDENT));
  }

  print(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  private painted(format: 'bold' | 'dim' | 'green', text: string): string {
    return this.hasColour ? styleText(format, text) : text;
  }
}
