import { printedTokens } from './json-tokens';

const INDENT = '  ';

/**
 * Indents compact JSON text for people, like `JSON.stringify(…, null, 2)`, but keeps digits and escapes. The text must
 * be valid and compact, as made by `readJson`; it may arrive in parts that end between tokens.
 */
export class IndentedJson {
  private lineBreak = '\n';
  /** Whether the last token opened a collection, which may be empty. */
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
