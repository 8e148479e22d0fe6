/** One resource of an answer, without its text. */
export interface EntryHead {
  readonly type: string;
  readonly id: string;
  /** Comma-separated ids of the parameters that link the resource to the patient; 0 for the patient itself. */
  readonly parameters: string;
}

export interface Entry extends EntryHead {
  readonly text: string;
}
