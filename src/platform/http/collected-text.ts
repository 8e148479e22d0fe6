import { ServiceError } from '../errors/service-error';
import { type TextSink } from './send-stream';

/** What may stand in memory for the sake of a format that cannot be sent in parts. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** Gathers a text that is turned into another format as a whole. */
export class CollectedText implements TextSink {
  readonly signal = new AbortController().signal;
  private readonly parts: string[] = [];
  private size = 0;

  /** @param remedy what to ask for instead of what is too long */
  constructor(private readonly remedy: string) {}

  get text(): string {
    return this.parts.join('');
  }

  write(text: string): Promise<void> {
    this.size += text.length;
    this.parts.push(text);
    return this.size <= MOST_CHARACTERS ? Promise.resolve() : Promise.reject(tooLarge(this.remedy));
  }
}

const tooLarge = (remedy: string): ServiceError =>
  new ServiceError('not-acceptable', `An answer of this size is not written as YAML or with _pretty. ${remedy}`);
