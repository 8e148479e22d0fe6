// Preloaded into a server whose spans a spec reads: prints each span to standard output, as a line of JSON.
const { NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');

const exporter = {
  export(spans, done) {
    for (const { name, attributes, status, events, links, parentSpanContext, ...span } of spans) {
      const { traceId, spanId } = span._spanContext;
      const ids = {
        traceId,
        spanId,
        parent: parentSpanContext?.spanId,
        links: links.map(({ context }) => context.spanId),
      };
      process.stdout.write(`${JSON.stringify({ span: name, ...ids, attributes, status, events })}\n`);
    }
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
};

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
