/** Pairs that are remembered; the one that was proven first is forgotten first. */
const MOST = 1000;

/**
 * Pairs of account and secret that this process has seen to be right, as hashes. They are no guesses, so they are judged without
 * being counted: a Client that calls by HTTP Basic pays nothing, and whoever guesses beside it cannot slow it down.
 */
export class ProvenSecrets {
  private readonly hashes = new Set<string>();

  has(hash: Buffer): boolean {
    return this.hashes.has(hash.toString('base64'));
  }

  add(hash: Buffer): void {
    this.hashes.add(hash.toString('base64'));
    const [first] = this.hashes;
    if (this.hashes.size > MOST && first !== undefined) this.hashes.delete(first);
  }

  delete(hash: Buffer): void {
    this.hashes.delete(hash.toString('base64'));
  }
}
