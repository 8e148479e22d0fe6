import 'pg';

/** Members of node-postgres that its types omit. */
declare module 'pg' {
  interface ClientBase {
    /** The process id of the backend in the protocol. A pooler invents it. */
    readonly processID: number;
    readonly secretKey: unknown;
    readonly readyForQuery: boolean;
    readonly sslNegotiation?: string;
  }

  interface Connection {
    /** The texts of the statements that are already parsed, by name. */
    readonly parsedStatements: Record<string, string>;
    connect(port: number | string, host?: string): void;
    requestSsl(): void;
    cancel(processId: number, secretKey: unknown): void;
  }
}
