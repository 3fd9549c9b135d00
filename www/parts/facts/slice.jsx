// A file slice: its base file and logs.

import { full } from '../../model/instant.js';
import { count } from '../../model/units.js';
import { Anatomy, Head, InstantLink, List } from './list.jsx';

/** @param {{ slice: import('../../types.js').HudiFileSlice }} props */
export const SliceFacts = ({ slice }) => (
  <>
    <Head title={slice.fileId} sub={[slice.partitionPath, `slice ${full(slice.creationInstantTime)}`].filter(Boolean).join(' · ')} />
    <h3>What a snapshot read opens</h3>
    <Anatomy slice={slice} />
    <List
      of={[
        [
          'rows',
          <span key="rows" class="mono">
            {count(slice.numRecords)}
          </span>,
        ],
        ['base instant', <InstantLink key="instant" time={slice.creationInstantTime} />],
        [
          'bytes',
          <span key="bytes" class="mono">
            {count(slice.totalSizeBytes)}
          </span>,
        ],
        ...(slice.baseFileRelativePath
          ? [
              /** @type {const} */ ([
                'base file',
                <span key="path" class="mono break">
                  {slice.baseFileRelativePath}
                </span>,
              ]),
            ]
          : []),
      ]}
    />
    {slice.logFilesRelativePaths.length > 0 && (
      <>
        <h3>Log files</h3>
        <ul class="paths">
          {slice.logFilesRelativePaths.map((path) => (
            <li key={path} class="mono break">
              {path}
            </li>
          ))}
        </ul>
      </>
    )}
  </>
);
