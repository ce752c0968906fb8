-- When a waiting delivery was last made due before its time: by a person, or because its receiver answers again
alter table webhook_queue add column hurried_at timestamptz;
