import '../node/storage/postgres.test.ts';
