/** Reads what exporters of OpenTelemetry send, as a collector does: with the code that protobufjs made of OTLP's own definition. */

import otlp from 'otlp-decoder/build/src/generated/root.js';

/** A span as a collector has it. Ids are hexadecimal digits. */
export interface ReceivedSpan {
  readonly name: string;
  readonly service: string;
  readonly scope: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface KeyValue {
  readonly key: string;
  readonly value?: Readonly<Record<string, unknown>> | null;
}

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly {
        readonly name: string;
        readonly traceId: Uint8Array<ArrayBuffer>;
        readonly spanId: Uint8Array<ArrayBuffer>;
        readonly parentSpanId: Uint8Array<ArrayBuffer> | null;
        readonly kind: number;
        readonly attributes: readonly KeyValue[];
      }[];
    }[];
  }[];
}

interface Definition {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: { decode(body: Uint8Array): Received } } };
      };
    };
  };
}

/** Returns the spans of the body of a POST to `/v1/traces`. @throws Error for what is no such body. */
export function readSpans(body: Uint8Array): readonly ReceivedSpan[] {
  const { opentelemetry: { proto } } = otlp as unknown as Definition; // its types do not say what it defines
  const request = proto.collector.trace.v1.ExportTraceServiceRequest.decode(body);
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span): ReceivedSpan => ({
        name: span.name,
        service: String(valuesOf(resource.attributes)['service.name']),
        scope: scope.name,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        kind: span.kind,
        attributes: valuesOf(span.attributes),
      }))
    )
  );
}

function valuesOf(pairs: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value ?? {})[0]]));
}

function hex(bytes: Uint8Array | null): string {
  return [...bytes ?? []].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
