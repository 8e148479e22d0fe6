import { printedTokens } from './json-tokens';

const INDENT = '  ';

/**
 * Indents compact JSON text for people. The result is like that of `JSON.stringify(…, null, 2)`, but digits and escapes
 * stay. The text must be valid and compact, as `readJson` makes it. It may arrive in parts that end between tokens.
 */
export class IndentedJson {
  private lineBreak = '\n';
  /** The last token opened an object or array, which may turn out to be empty. */
  private isOpened = false;

  print(text: string): Iterable<string> {
    return printedTokens(text, (token) => this.token(token));
  }

  end(): string {
    return '';
  }

  private token(token: string): string {
    const before = this.isOpened ? this.lineBreak : '';
    const isEmpty = this.isOpened && (token === '}' || token === ']');
    this.isOpened = false;
    switch (token) {
      case '{':
      case '[':
        this.lineBreak += INDENT;
        this.isOpened = true;
        return before + token;
      case '}':
      case ']':
        this.lineBreak = this.lineBreak.slice(0, -INDENT.length);
        return isEmpty ? token : this.lineBreak + token;
      case ',':
        return token + this.lineBreak;
      case ':':
        return ': ';
      default:
        return before + token;
    }
  }
}
