/** Describes the routes of grounding in OpenAPI. */

import * as v from 'valibot';
import { RetrieveRequest } from '../../../../src/grounding/request.ts';
import { IngestRequest } from '../grounding.ts';
import { body, id, type Json, json, operation, problem } from './parts.ts';

/** Gives the paths. */
export function describeGrounding(): Json {
  return {
    '/v1/grounding/{source}/retrieve': {
      post: operation('Ask a data source', {
        parameters: [{ ...id, name: 'source' }],
        requestBody: body(v.omit(RetrieveRequest, ['dataSourceId', 'dataSourceIds'])),
        responses: { 200: json, 404: problem, default: problem },
      }),
    },
    '/v1/data-sources/{id}/ingest': {
      post: operation(
        'Fill a data source with files, of at most 16 MiB; with Accept: text/event-stream the progress is told',
        {
          parameters: [id],
          requestBody: body(IngestRequest),
          responses: { 200: json, 404: problem, default: problem },
        },
      ),
    },
  };
}
