// A field, a request, and what was worked around.

import { actions as finished } from '../../engine/client.js';
import * as state from '../../model/state.js';
import { count, duration, lastPart } from '../../model/units.js';
import { rangeOf } from '../../views/requests.jsx';
import { Head, List } from './list.jsx';

/** @typedef {import('../../types.js').Column} Column */

/** @param {{ column: Column }} props */
export const FieldFacts = ({ column }) => (
  <>
    <Head title={column.name} sub={column.type} />
    <List
      of={[
        ['null', column.nullable ? 'may be null' : 'required'],
        ['partition field', state.table.value?.partitionFields.includes(column.name) ? 'yes' : 'no'],
        ['record key', state.table.value?.keyFields.includes(column.name) ? 'yes' : 'no'],
        ['ordering field', state.table.value?.orderingFields.includes(column.name) ? 'yes' : 'no'],
      ]}
    />
  </>
);

/** @param {{ request: import('../../types.js').SeenRequest }} props */
export const RequestFacts = ({ request }) => (
  <>
    <Head title={lastPart(request.path) || request.path} sub={request.path} />
    <List
      of={[
        ['cause', request.cause],
        ['call', finished.value.find(({ id }) => id === request.action)?.label ?? ''],
        ['method', request.method],
        [
          'range',
          <span key="range" class="mono">
            {rangeOf(request)}
          </span>,
        ],
        [
          'bytes',
          <span key="bytes" class="mono">
            {count(request.bytes)}
          </span>,
        ],
        ['from', request.from],
        ...(request.from === 'network'
          ? [
              /** @type {const} */ ([
                'status',
                <span key="status" class="mono">
                  {request.status}
                </span>,
              ]),
            ]
          : []),
        [
          'try',
          <span key="try" class="mono">
            {request.attempt}
          </span>,
        ],
        [
          'time',
          <span key="time" class="mono">
            {duration(request.ms)}
          </span>,
        ],
      ]}
    />
  </>
);

export const WarningFacts = () => (
  <>
    <Head title="What was worked around" />
    <ul class="paths">
      {state.warnings.value.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  </>
);
