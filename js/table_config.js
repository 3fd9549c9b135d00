// Names of a table's own settings, as hoodie.properties has them.

export const HudiTableConfig = Object.freeze(
  /** @type {const} */ ({
    BaseFileFormat: 'hoodie.table.base.file.format',
    Checksum: 'hoodie.table.checksum',
    CreateSchema: 'hoodie.table.create.schema',
    DatabaseName: 'hoodie.database.name',
    DropsPartitionFields: 'hoodie.datasource.write.drop.partition.columns',
    IsHiveStylePartitioning: 'hoodie.datasource.write.hive_style_partitioning',
    IsPartitionPathUrlencoded: 'hoodie.datasource.write.partitionpath.urlencode',
    KeyGeneratorClass: 'hoodie.table.keygenerator.class',
    KeyGeneratorType: 'hoodie.table.keygenerator.type',
    MetadataPartitions: 'hoodie.table.metadata.partitions',
    OrderingFields: 'hoodie.table.ordering.fields',
    PartitionFields: 'hoodie.table.partition.fields',
    PopulatesMetaFields: 'hoodie.populate.meta.fields',
    PrecombineField: 'hoodie.table.precombine.field',
    RecordKeyFields: 'hoodie.table.recordkey.fields',
    RecordMergeMode: 'hoodie.record.merge.mode',
    TableName: 'hoodie.table.name',
    TableType: 'hoodie.table.type',
    TableVersion: 'hoodie.table.version',
    TimelineHistoryPath: 'hoodie.timeline.history.path',
    TimelineLayoutVersion: 'hoodie.timeline.layout.version',
    TimelinePath: 'hoodie.timeline.path',
    TimelineTimezone: 'hoodie.table.timeline.timezone',
  }),
);
